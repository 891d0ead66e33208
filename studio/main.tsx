import { render } from 'preact'
import { App } from './app.js'
import { followKeys } from './base/keys.js'
import { followVisibility } from './base/live.js'
import { followAddress } from './base/place.js'
import { followTheme } from './base/theme.js'

followTheme()
followAddress()
followKeys()
followVisibility()
render(<App />, document.getElementById('app')!)
