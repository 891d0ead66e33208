import { usePlugins } from '../../plugin/use.js'
import { serve } from '../child/serve.js'
import { playerWork } from './player.js'

serve(playerWork(), usePlugins(process.argv.slice(2)))
