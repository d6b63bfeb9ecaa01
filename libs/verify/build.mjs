/**
 * Builds the published program: one readable file that includes the day rules and the SDK's client.
 *
 *   node build.mjs [directory]   default: dist next to this file
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
    alias: [{ find: /^#libs\/([\w-]+)(\/\w+)?$/, replacement: join(here, '../$1/src$2/index.ts') }],
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
      // Leaves out the unused parts of the libs.
      treeshake: { moduleSideEffects: false },
      output: { entryFileNames: 'lowmark-verify.js', codeSplitting: false },
    },
  },
});
