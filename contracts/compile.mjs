/**
 * Compiles contracts/src with the npm solc and writes each contract as typed TypeScript to libs/chain/src/abi.
 *
 *   node contracts/compile.mjs           writes the files
 *   node contracts/compile.mjs --check   writes nothing; fails where a committed file differs
 *
 * The output depends on the sources, solc and OpenZeppelin only: no metadata hash, no paths, no time.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import solc from 'solc';

const sources = new URL('src/', import.meta.url);
const target = new URL('../libs/chain/src/abi/', import.meta.url);
const require = createRequire(import.meta.url);

function compile() {
  const names = readdirSync(sources).filter((name) => name.endsWith('.sol'));
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      names.map((name) => [name, { content: readFileSync(new URL(name, sources), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 10_000 },
      evmVersion: 'cancun',
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode'] } },
    },
  };
  const readImport = (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  const faults = (output.errors ?? []).filter(
    // The guard of OpenZeppelin clears its flag after every call, which that warning itself calls safe.
    (fault) => fault.errorCode !== '2394',
  );
  if (faults.length > 0) {
    throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  }
  return names.flatMap((name) => Object.entries(output.contracts[name]));
}

/** The code at the contract's address: the end of the bytecode, with a word for each immutable that is 0 there. */
function runtimeOf({ bytecode, deployedBytecode: { object, immutableReferences } }) {
  if (!bytecode.object.endsWith(object)) throw new Error('the bytecode does not end with the code');
  const places = Object.values(immutableReferences ?? {}).flat();
  if (places.some(({ length }) => length !== 32)) throw new Error('an immutable is no word');
  const immutables = places.map(({ start }) => start).sort((a, b) => a - b);
  return { bytes: object.length / 2, immutables };
}

function render([name, contract]) {
  const stem = name[0].toLowerCase() + name.slice(1);
  return {
    file: name.replace(/(?<=[a-z0-9])[A-Z]/g, '-$&').toLowerCase() + '.generated.ts',
    text: [
      `// Generated from contracts/src/${name}.sol by contracts/compile.mjs; do not edit.`,
      '',
      `export const ${stem}Abi = ${JSON.stringify(contract.abi, null, 2)} as const;`,
      '',
      `export const ${stem}Bytecode =`,
      `  '0x${contract.evm.bytecode.object}' as const;`,
      '',
      `export const ${stem}Runtime = ${JSON.stringify(runtimeOf(contract.evm), null, 2)} as const;`,
      '',
    ].join('\n'),
  };
}

const drifted = [];
const rendered = compile().map(render);
for (const { file, text } of rendered) {
  const url = new URL(file, target);
  if (existsSync(url) && readFileSync(url, 'utf8') === text) continue;
  drifted.push(file);
  if (!process.argv.includes('--check')) {
    writeFileSync(url, text);
    console.log(`wrote ${fileURLToPath(url)}`);
  }
}
if (process.argv.includes('--check')) {
  const known = new Set(rendered.map(({ file }) => file));
  const stale = readdirSync(target).filter(
    (file) => file.endsWith('.generated.ts') && !known.has(file),
  );
  if (drifted.length + stale.length > 0) {
    console.error(`out of date, run "npm run contracts": ${[...drifted, ...stale].join(', ')}`);
    process.exitCode = 1;
  }
}
