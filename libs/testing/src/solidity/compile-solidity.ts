/** Compiles contracts of tests, so that they do not become part of the libraries. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Abi, type Hex } from 'viem';

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
  /** The code at the contract's address, for a contract without immutables. */
  readonly runtime: Hex;
}

/** The contracts of a source by name. */
type Compiled = (name: string) => CompiledContract;

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
/** By source, since compiling takes seconds. */
const known = new Map<string, Compiled>();

/** @param path of the source, from which its relative imports are read. @throws Error with the compiler's messages */
export function compileSolidity(source: string, path = 'test.sol'): Compiled {
  let compiled = known.get(source);
  if (compiled === undefined) {
    compiled = compile(source, path);
    known.set(source, compiled);
  }
  return compiled;
}

export function compileFile(file: URL): Compiled {
  return compileSolidity(readFileSync(file, 'utf8'), fileURLToPath(file));
}

function compile(content: string, path: string): Compiled {
  const input = {
    language: 'Solidity',
    sources: { [path]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  };
  const solc = require('solc') as Compiler;
  const readImport = (from: string) => ({ contents: readFileSync(require.resolve(from), 'utf8') });
  const text = solc.compile(JSON.stringify(input), { import: readImport });
  const { errors = [], contracts } = JSON.parse(text) as Output;
  const faults = errors.filter(({ severity }) => severity === 'error');
  if (faults.length > 0) throw new Error(faults.map((one) => one.formattedMessage).join('\n'));
  return (name) => {
    const contract = contracts[path]?.[name];
    if (!contract) throw new Error(`there is no contract ${name}`);
    const { bytecode, deployedBytecode } = contract.evm;
    return {
      abi: contract.abi,
      bytecode: `0x${bytecode.object}`,
      runtime: `0x${deployedBytecode.object}`,
    };
  };
}
