/**
 * Environment variables for a program that a test starts with an otherwise clean environment. Node then finds the
 * program's modules compiled, which shortens the start. The behaviour of the program does not depend on this.
 */
export function compileCache(): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
