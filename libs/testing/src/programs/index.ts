export { compileCache } from './compile-cache.js';
