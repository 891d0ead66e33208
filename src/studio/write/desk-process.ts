import { usePlugins } from '../../plugin/use.js'
import { serve } from '../child/serve.js'
import { deskWork } from './desk.js'

const dirs = process.argv.slice(2)
serve(deskWork(dirs), usePlugins(dirs))
