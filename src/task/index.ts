export * from './selector/index.js'
