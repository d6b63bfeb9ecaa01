import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';
import { documents } from './documents.mjs';
import { mantineStyles } from './mantine-styles.mjs';
import { partnerDocs } from './partner-docs.mjs';

const OUT = join(import.meta.dirname, '../../dist/apps/web');

/** Compresses each file once at build time, so that no request waits for compression. */
const precompressed = {
  name: 'precompressed',
  writeBundle() {
    const folder = join(OUT, 'assets');
    for (const name of readdirSync(folder)) {
      if (!/\.(js|css|svg|json)$/.test(name)) continue;
      const content = readFileSync(join(folder, name));
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
      writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  plugins: [partnerDocs, mantineStyles, documents, precompressed],
  resolve: {
    // Pure functions that the pages share with the services; see apps/web/README.md.
    alias: {
      '#libs/domain': join(import.meta.dirname, '../../libs/domain/src/index.ts'),
      '#libs/partner-sdk/answers': join(
        import.meta.dirname,
        '../../libs/partner-sdk/src/answers/index.ts',
      ),
    },
  },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // Keeps scripts and images out of the document, since its content security policy allows none.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // All documents for partners are in one chunk, which only their page loads.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // The modules that every page needs first go into one file instead of thirty, since a phone waits for each
      // request.
      output: { codeSplitting: { groups: [{ name: 'base', tags: ['$initial'] }] } },
      onLog(level, log, report) {
        // Mantine's files contain a directive for server rendering, which this app does not use.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
