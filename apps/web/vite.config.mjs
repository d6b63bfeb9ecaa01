import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';
import { documents } from './documents.mjs';
import { mantineStyles } from './mantine-styles.mjs';
import { partnerDocs } from './partner-docs.mjs';

const OUT = join(import.meta.dirname, '../../dist/apps/web');

/** Leaves each file compressed beside itself, once, so that no request waits for it. */
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
    alias: { '#libs/domain': join(import.meta.dirname, '../../libs/domain/src/index.ts') },
  },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // No script and no image inside the document: its policy allows none.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // All documents for partners are one file, which their page loads.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // What every page begins with is one file and not thirty: a phone waits for each.
      output: { codeSplitting: { groups: [{ name: 'base', tags: ['$initial'] }] } },
      onLog(level, log, report) {
        // Of Mantine's files: a mark for servers that render, which none does here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
