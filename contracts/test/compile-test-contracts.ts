import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, type Hex } from 'viem';

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
  /** What stands at the address afterwards, where no immutable is in it. */
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
/** By file: compiling takes seconds. */
const outputs = new Map<string, Output>();

/**
 * The contracts of a file in this folder, by name; compiled in the test so that nothing of them gets into the libraries.
 * @throws Error with what the compiler says
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
