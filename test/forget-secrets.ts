import { forgetSecrets } from '../src/base/secret/known.js'

forgetSecrets()
