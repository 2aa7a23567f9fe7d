// Runs a WebAssembly program of the WASI kind under Node: node run_wasm.mjs PROGRAM ARGUMENT... Paths among the arguments are absolute.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [, , program, ...words] = process.argv;
// Held by the global object, else Node may collect it while its program still runs.
globalThis.wasi = new WASI({ version: 'preview1', args: [program, ...words], env: {}, preopens: { '/': '/' }, returnOnExit: true });
const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(program)), { wasi_snapshot_preview1: globalThis.wasi.wasiImport });
process.reallyExit(globalThis.wasi.start(instance)); // at once: tearing down may crash in what it frees
