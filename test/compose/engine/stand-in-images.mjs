/**
 * Builds stand-in images, under the names that the compose files and the Dockerfile use, from Debian's and npm's
 * packages, where no registry is reachable. Images that were pulled, or that already exist, are left alone.
 */
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { capture, run } from './run.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const RECIPES = fileURLToPath(new URL('stand-ins', import.meta.url));
const BASE = 'lowmark-test/debian:trixie';
/** Pattern of the base image in deploy/ha/Dockerfile. */
const DEBIAN = /^debian:(\w+)-slim$/;
const LABEL = 'lowmark.stand-in';
const MIRROR = 'http://deb.debian.org/debian';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Build targets in stand-ins/Dockerfile by the name of the official image. */
const TARGETS = {
  node: 'node',
  postgres: 'postgres',
  redis: 'redis',
  haproxy: 'haproxy',
  'ghcr.io/foundry-rs/foundry': 'foundry',
  'prom/prometheus': 'prometheus',
  'prom/alertmanager': 'alertmanager',
};

/**
 * Provides the images.
 *
 * @param variables the environment variables with which `docker` finds the engine
 * @param profiles profiles of the compose files whose images are needed too
 * @param say receives a line about each image
 * @returns the names for which no image could be made
 */
export function provideImages({ variables = {}, profiles = [], say = () => undefined } = {}) {
  const docker = (...words) => run('docker', words, { environment: variables });
  const recipe = recipeHash();
  const names = [...wantedImages(profiles), baseOfFailover()];
  const wanted = names.filter((image) => !isPresent(image, recipe, variables));
  const pulled = pullAll(wanted, variables);
  const missing = wanted.filter((image) => !pulled.includes(image));
  for (const image of pulled) say(`${image}  pulled`);
  for (const image of missing.filter((name) => DEBIAN.test(name))) {
    makeDebian(DEBIAN.exec(image)[1], image, variables);
    say(`${image}  made`);
  }
  const unknown = missing.filter((image) => targetOf(image) === undefined && !DEBIAN.test(image));
  const toBuild = missing.filter((image) => targetOf(image) !== undefined);
  if (toBuild.length > 0) {
    const context = mkdtempSync(join(tmpdir(), 'lowmark-images-'));
    try {
      fillContext(context, toBuild.map(targetOf));
      if (capture('docker', ['image', 'inspect', BASE], variables).status !== 0) {
        makeDebian('trixie', BASE, variables);
        say(`${BASE}  made`);
      }
      for (const image of toBuild) {
        const label = `${LABEL}=${recipe}`;
        docker('build', '-q', '--target', targetOf(image), '--label', label, '-t', image, context);
        say(`${image}  built from Debian's packages`);
      }
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }
  return unknown;
}

/** Settings that name images which the compose files build. */
const OUR_IMAGES = /LOWMARK_IMAGE|BACKUP_IMAGE/;

/**
 * The third-party images of the services without a profile and of the given profiles, and the base of Lowmark's own
 * image.
 */
export function wantedImages(profiles) {
  const images = globSync('docker-compose*.yml', { cwd: ROOT })
    .flatMap((name) => Object.values(load(readFileSync(join(ROOT, name), 'utf8')).services))
    .filter((service) => (service.profiles ?? []).every((profile) => profiles.includes(profile)))
    .map(({ image }) => image)
    .filter((image) => image !== undefined && !OUR_IMAGES.test(image));
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  return [...new Set([/^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? 'node', ...images])];
}

/** The base of the image of deploy/ha. */
export function baseOfFailover() {
  const dockerfile = readFileSync(join(ROOT, 'deploy/ha/Dockerfile'), 'utf8');
  return /^ARG DEBIAN_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? 'debian';
}

function targetOf(image) {
  return TARGETS[image.replace(/:[^/]*$/, '')];
}

/** An image from a registry is used as it is; a stand-in only where its recipe has not changed. */
function isPresent(image, recipe, variables) {
  const format = `{{index .Config.Labels "${LABEL}"}}`;
  const { status, stdout } = capture(
    'docker',
    ['image', 'inspect', '-f', format, image],
    variables,
  );
  return status === 0 && ['', '<no value>', recipe].includes(stdout.trim());
}

/** Pulls the other images only where the first one could be pulled. */
function pullAll(images, variables) {
  const [first, ...others] = images;
  const pull = (image) =>
    spawnSync('docker', ['pull', '-q', image], {
      env: { ...process.env, ...variables },
      timeout: 300_000,
    }).status === 0;
  if (first === undefined || !pull(first)) return [];
  return [first, ...others.filter(pull)];
}

function recipeHash() {
  const hash = createHash('sha256');
  for (const name of readdirSync(RECIPES).sort()) hash.update(readFileSync(join(RECIPES, name)));
  return hash.digest('hex').slice(0, 12);
}

/**
 * Makes a Debian image without documentation and translations. The archive is large, so it is piped directly into the
 * engine.
 */
function makeDebian(suite, name, variables) {
  const without = ['doc', 'man', 'locale'].map(
    (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
  );
  const options = ['--quiet', '--variant=minbase', '--include=ca-certificates', ...without];
  const words = [...options, '--aptopt=\'Acquire::Languages "none"\'', suite, '-', MIRROR];
  run('bash', ['-o', 'pipefail', '-c', `mmdebstrap ${words.join(' ')} | docker import - ${name}`], {
    environment: variables,
  });
}

/** Collects the files that the Dockerfile copies. */
function fillContext(context, targets) {
  for (const name of readdirSync(RECIPES)) copyFileSync(join(RECIPES, name), join(context, name));
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(context, 'ca-certificates.crt'));
  else throw new Error(`${CERTIFICATES} is missing: apt-get install ca-certificates`);
  if (targets.includes('node')) {
    copyFileSync(join(ROOT, 'node_modules/node/bin/node'), join(context, 'node'));
    cpSync(npmFolder(), join(context, 'npm'), { recursive: true });
  }
  if (targets.includes('foundry')) {
    const { version } = JSON.parse(
      readFileSync(join(ROOT, 'node_modules/@foundry-rs/anvil/package.json'), 'utf8'),
    );
    const platform = `linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
    const anvil = `node_modules/@foundry-rs/anvil-${platform}/bin/anvil`;
    copyFileSync(join(ROOT, anvil), join(context, 'anvil'));
    // cast's release has the same version as anvil's. Only the health check of the compose file needs cast.
    const archive = run('npm', ['pack', '--silent', `@foundry-rs/cast-${platform}@${version}`], {
      cwd: context,
    });
    run('tar', ['xzf', archive.trim(), '--strip-components=2', 'package/bin/cast'], {
      cwd: context,
    });
    for (const name of ['anvil', 'cast']) chmodSync(join(context, name), 0o755);
  }
}

/** The folder of this machine's npm. */
function npmFolder() {
  const fromScript = process.env.npm_execpath;
  const path = fromScript?.endsWith('npm-cli.js')
    ? fromScript
    : run('sh', ['-c', 'command -v npm']).trim();
  return dirname(dirname(realpathSync(path)));
}
