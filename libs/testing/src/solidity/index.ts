export { compileFile, compileSolidity, type CompiledContract } from './compile-solidity.js';
