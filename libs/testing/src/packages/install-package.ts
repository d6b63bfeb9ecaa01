import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface InstalledPackage {
  /** The folder of the project in which the package is installed. */
  readonly project: string;
  /** The files that `npm pack` has included, by their paths in the package. */
  readonly packed: readonly string[];
  /** The programs of the package, by name. */
  readonly programs: Readonly<Record<string, string>>;
}

/**
 * Builds a package as it is published, packs it, and unpacks it into an empty project. What `npm install` would install
 * beside it is linked.
 * @param home the folder of the package, such as `libs/verify`
 * @param folder an empty folder for all of it
 * @param development further packages of the project
 */
export async function installPackage(
  home: string,
  folder: string,
  development: readonly string[] = [],
): Promise<InstalledPackage> {
  const [source, project] = [join(folder, 'source'), join(folder, 'project')];
  mkdirSync(source);
  for (const file of ['package.json', 'README.md']) cpSync(join(home, file), join(source, file));
  await run(process.execPath, [join(home, 'build.mjs'), join(source, 'dist')]);
  const npm = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', folder];
  const { stdout } = await run('npm', npm, { cwd: source });
  const [pack] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const { name, bin, dependencies } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  ) as { name: string; bin: Record<string, string>; dependencies: Record<string, string> };
  const installed = join(project, 'node_modules', name);
  mkdirSync(installed, { recursive: true });
  const archive = join(folder, pack.filename);
  await run('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  for (const one of [...Object.keys(dependencies), ...development]) {
    const link = join(project, 'node_modules', one);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', one), link);
  }
  const programs = Object.entries(bin).map(([word, path]) => [word, join(installed, path)]);
  const packed = pack.files.map(({ path }) => path);
  return { project, packed, programs: Object.fromEntries(programs) as Record<string, string> };
}
