import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, type Hex } from 'viem';

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
  /** The code at the contract's address, for a contract without immutables. */
  readonly runtime: Hex;
}

interface Compiler {
  compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string;
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<
      string,
      {
        readonly abi: Abi;
        readonly evm: {
          readonly bytecode: { object: string };
          readonly deployedBytecode: { object: string };
        };
      }
    >
  >;
}

const require = createRequire(import.meta.url);
/** Compiler outputs by file, cached because compiling takes seconds. */
const outputs = new Map<string, Output>();

/**
 * Returns the contracts of a file in this folder by name. They are compiled in the test, so that they do not become
 * part of the libraries.
 * @throws Error with the compiler's messages
 */
export function compileTestContracts(file: string): (name: string) => CompiledContract {
  const output = outputs.get(file) ?? compile(file);
  outputs.set(file, output);
  return (name) => {
    const contract = output.contracts[file]?.[name];
    if (!contract) throw new Error(`${file} holds no ${name}`);
    const { bytecode, deployedBytecode } = contract.evm;
    return {
      abi: contract.abi,
      bytecode: `0x${bytecode.object}`,
      runtime: `0x${deployedBytecode.object}`,
    };
  };
}

function compile(file: string): Output {
  const content = readFileSync(new URL(file, import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  };
  const solc = require('solc') as Compiler;
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const text = solc.compile(JSON.stringify(input), { import: readImport });
  const output = JSON.parse(text) as Output;
  const faults = output.errors?.filter(({ severity }) => severity === 'error') ?? [];
  if (faults.length > 0) throw new Error(faults.map((one) => one.formattedMessage).join('\n'));
  return output;
}
