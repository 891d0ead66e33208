/** GGUF, the format of llama.cpp and Ollama: read as a model directory, and written from one. */

export { type ExportOptions, exportGguf } from './export.js'
export { GgufFile, isGguf } from './file.js'
export { type FileType, fileTypes, isFileType } from './file-type.js'
export { exportOllama } from './ollama.js'
export { unpackedGguf, unpackGguf } from './unpack.js'
