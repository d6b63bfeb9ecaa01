/**
 * For the environment of a program that is given nothing else of the tests' own: with it Node finds the program's modules compiled,
 * which is a part of each start. Nothing that the program does depends on it.
 */
export function compileCache(): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
