/**
 * The documents that the console serves, made from the built index.html. They contain the first paint in the reader's
 * language, which needs no script: the header, and on the players' page its title and a placeholder of its first card.
 * The players' document also names the files and the data that its page will request, so that the browser fetches them
 * in parallel.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';

const SHELL_CSS = join(import.meta.dirname, 'src/shell/shell.css');
const TEXTS = join(import.meta.dirname, 'src/texts');
/** Data that the players' page requests before it shows a wallet; see `src/redeem/config.ts`. */
const DATA = ['/player/config', '/player/api/chain'];

export const documents = {
  name: 'documents',
  generateBundle: {
    // Vite adds index.html in its own `generateBundle`, so this plugin runs after it.
    order: 'post',
    async handler(_, bundle) {
      const built = bundle['index.html'].source;
      delete bundle['index.html'];
      const { LANGUAGES } = await exportsOf('languages');
      for (const { code } of LANGUAGES) {
        const { [code]: texts } = await exportsOf(code);
        const pages = {
          players: { main: playersMain(texts.redeem), isPlayers: true },
          desk: { main: '', isPlayers: false },
        };
        for (const [name, { main, isPlayers }] of Object.entries(pages)) {
          const modules = [`/texts/${code}.ts`, ...(isPlayers ? ['/redeem/redeem-area.tsx'] : [])];
          const files = filesOf(bundle, modules);
          const source = documentOf(built, { main, files, data: isPlayers ? DATA : [] });
          this.emitFile({ type: 'asset', fileName: `${name}.${code}.html`, source });
        }
      }
    },
  },
};

function documentOf(built, { main, files, data }) {
  const style = readFileSync(SHELL_CSS, 'utf8').replaceAll(/\/\*.*?\*\/|\n\s*/gs, '');
  // Style sheets are only preloaded, so that they do not delay the first paint. The first script applies them; see
  // `src/main.tsx`.
  const sheets = new Set(files.css.map((css) => `/${css}`));
  const document = built.replaceAll(
    /\s*<link rel="stylesheet"[^>]*href="([^"]*)"[^>]*>/g,
    (_, url) => {
      sheets.add(url);
      return '';
    },
  );
  const hints = [
    ...[...sheets].map((url) => `<link rel="preload" as="style" data-sheet href="${url}">`),
    ...files.js
      .filter((js) => !document.includes(js))
      .map((js) => `<link rel="modulepreload" crossorigin href="/${js}">`),
    ...data.map((url) => `<link rel="preload" as="fetch" crossorigin href="${url}">`),
    `<style nonce="%NONCE%">${style}</style>`,
  ];
  return document.replace('</head>', `${hints.join('\n    ')}\n  </head>`).replace('%MAIN%', main);
}

async function exportsOf(name) {
  return (await runnerImport(join(TEXTS, `${name}.ts`))).module;
}

/** The built files of the modules, with all their static imports. */
function filesOf(bundle, endings) {
  const js = new Set();
  const css = new Set();
  const add = (name) => {
    const chunk = bundle[name];
    if (chunk === undefined || js.has(name)) return;
    for (const file of chunk.viteMetadata?.importedCss ?? []) css.add(file);
    for (const imported of chunk.imports) add(imported);
    js.add(name);
  };
  for (const ending of endings) {
    const chunk = Object.values(bundle).find(
      ({ type, moduleIds }) => type === 'chunk' && moduleIds.some((id) => id.endsWith(ending)),
    );
    if (chunk === undefined) throw new Error(`No chunk has ${ending}.`);
    add(chunk.fileName);
  }
  return { js: [...js], css: [...css] };
}

/** The same markup with which `src/redeem/redeem-area.tsx` begins. */
function playersMain({ title, intro }) {
  return `<div class="shell-page"><div><h1 class="shell-title">${escaped(title)}</h1><p class="shell-intro">${escaped(intro)}</p></div><div class="shell-card" aria-hidden="true"></div></div>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
