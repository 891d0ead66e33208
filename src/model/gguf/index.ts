/** GGUF, the format of llama.cpp and Ollama: read as a model directory, and written from one. */

export { GgufFile, isGguf } from './file.js'
export { unpackedGguf, unpackGguf } from './unpack.js'
