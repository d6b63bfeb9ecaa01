/**
 * Makes the published program: one file that can be read, with the day rules and the SDK's client in it.
 *
 *     node build.mjs [directory]     default: dist beside this file
 */
import { join, resolve } from 'node:path';
import { build } from 'vite';

const here = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(here, 'dist'));

await build({
  configFile: false,
  root: here,
  logLevel: 'warn',
  resolve: {
    alias: [{ find: /^#libs\/([\w-]+)$/, replacement: join(here, '../$1/src/index.ts') }],
  },
  ssr: { noExternal: [/^#libs\//] },
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    outDir: out,
    emptyOutDir: true,
    rolldownOptions: {
      external: [/^node:/, /^viem(\/|$)/, 'hash-wasm', 'canonicalize'],
      // What is not used of a lib is left out.
      treeshake: { moduleSideEffects: false },
      output: { entryFileNames: 'lowmark-verify.js', codeSplitting: false },
    },
  },
});
