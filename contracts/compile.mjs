/**
 * Compiles contracts/src with the npm solc and writes each contract as typed TypeScript to libs/chain/src/abi.
 *
 *   node contracts/compile.mjs           writes the files
 *   node contracts/compile.mjs --check   writes nothing; fails where a committed file differs
 *
 * The output depends only on the sources, solc and OpenZeppelin: it contains no metadata hash, no paths and no time.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import solc from 'solc';
import { parseAbi } from 'viem/utils';

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
    // Warning 2394 (transient storage): OpenZeppelin's guard clears its flag after every call, which the warning itself
    // calls safe.
    (fault) => fault.errorCode !== '2394',
  );
  if (faults.length > 0) {
    throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  }
  return names.flatMap((name) => Object.entries(output.contracts[name]));
}

/** The parts of each contract that the TypeScript code needs. */
const PARTS = {
  LowmarkToken: [abiOf],
  Staking: [abiOf],
  RedemptionVault: [abiOf, runtimeOf],
  SnapshotRegistry: [abiOf, runtimeOf],
};

function abiOf(stem, { abi }) {
  const lines = abi.map((item) => `  '${signatureOf(item)}',`);
  requireSame(parseAbi(abi.map(signatureOf)), abi);
  return `export const ${stem}Abi = parseAbi([\n${lines.join('\n')}\n]);`;
}

/** The code at the contract's address. It is the end of the bytecode, with a word of 0 for each immutable. */
function runtimeOf(stem, { evm: { bytecode, deployedBytecode } }) {
  const { object, immutableReferences } = deployedBytecode;
  if (!bytecode.object.endsWith(object)) throw new Error('the bytecode does not end with the code');
  const places = Object.values(immutableReferences ?? {}).flat();
  if (places.some(({ length }) => length !== 32)) throw new Error('an immutable is no word');
  const immutables = places.map(({ start }) => start).sort((a, b) => a - b);
  const bytes = object.length / 2;
  return `export const ${stem}Runtime = { bytes: ${bytes}, immutables: [${immutables.join(', ')}] };`;
}

/** An item of an ABI in the syntax of Solidity. */
function signatureOf({ type, name, inputs, outputs = [], stateMutability = 'nonpayable' }) {
  const words = [
    type === 'constructor'
      ? `constructor(${fieldsOf(inputs)})`
      : `${type} ${name}(${fieldsOf(inputs)})`,
    ...(stateMutability === 'nonpayable' ? [] : [stateMutability]),
    ...(outputs.length === 0 ? [] : [`returns (${fieldsOf(outputs)})`]),
  ];
  return words.join(' ');
}

function fieldsOf(fields) {
  return fields
    .map(({ type, name, indexed, components }) => {
      const plain = components ? type.replace('tuple', `(${fieldsOf(components)})`) : type;
      return [plain, ...(indexed ? ['indexed'] : []), name].join(' ').trim();
    })
    .join(', ');
}

/** Compares a parsed ABI with the compiler's, without the names of Solidity's internal types, which no call needs. */
function requireSame(parsed, abi) {
  const textOf = (value) =>
    JSON.stringify(value, (key, inner) => {
      const isLeftOut = key === 'internalType' || inner === '' || inner === false;
      if (isLeftOut) return undefined;
      const isPlain = typeof inner !== 'object' || inner === null || Array.isArray(inner);
      return isPlain ? inner : Object.fromEntries(Object.entries(inner).sort());
    });
  if (textOf(parsed) !== textOf(abi)) throw new Error('a signature does not say what the ABI says');
}

function render([name, contract]) {
  const stem = name[0].toLowerCase() + name.slice(1);
  return {
    file: name.replace(/(?<=[a-z0-9])[A-Z]/g, '-$&').toLowerCase() + '.generated.ts',
    text: [
      `// Generated from contracts/src/${name}.sol by contracts/compile.mjs; do not edit.`,
      "import { parseAbi } from 'viem/utils';",
      ...PARTS[name].map((part) => part(stem, contract)),
      `export const ${stem}Bytecode =\n  '0x${contract.evm.bytecode.object}' as const;\n`,
    ].join('\n\n'),
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
