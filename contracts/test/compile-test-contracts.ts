import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, type Hex } from 'viem';

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface Compiler {
  compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string;
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<string, { readonly abi: Abi; readonly evm: { readonly bytecode: { object: string } } }>
  >;
}

const FILE = 'odd-tokens.sol';
const require = createRequire(import.meta.url);

/** Tokens that no vault should be built for, by name; compiled here so that nothing of them gets into the libraries. */
export function compileOddTokens(): (name: string) => CompiledContract {
  const content = readFileSync(new URL(FILE, import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [FILE]: { content } },
    settings: {
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const solc = require('solc') as Compiler;
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const text = solc.compile(JSON.stringify(input), { import: readImport });
  const output = JSON.parse(text) as Output;
  const faults = output.errors?.filter(({ severity }) => severity === 'error') ?? [];
  if (faults.length > 0) throw new Error(faults.map((one) => one.formattedMessage).join('\n'));
  return (name) => {
    const contract = output.contracts[FILE]?.[name];
    if (!contract) throw new Error(`${FILE} holds no ${name}`);
    return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
  };
}
