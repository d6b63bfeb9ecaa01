/** Installs an engine's packages from Debian: the daemon, and the plugins compose and buildx. */
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { capture, run, succeeds } from './run.mjs';

const PROGRAMS = {
  dockerd: 'docker.io',
  docker: 'docker.io',
  iptables: 'iptables',
  mmdebstrap: 'mmdebstrap',
};
/** The folder in which the docker program looks for plugins of the whole machine. */
const PLUGINS = '/usr/local/lib/docker/cli-plugins';
/** Debian 13 has both plugins, Debian 12 has neither. Each plugin is a single executable that runs on both. */
const TRIXIE = `Types: deb
URIs: http://deb.debian.org/debian
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`;

/** Installs the missing packages. Needs root and Debian 12 or newer. */
export function installPackages() {
  const cgroups = readFileSync('/proc/mounts', 'utf8').includes(' /sys/fs/cgroup');
  // Without systemd the control groups may not be mounted.
  const wanted = cgroups ? PROGRAMS : { ...PROGRAMS, 'cgroupfs-mount': 'cgroupfs-mount' };
  const missing = Object.entries(wanted).filter(([program]) => !hasProgram(program));
  if (missing.length > 0) {
    const environment = { DEBIAN_FRONTEND: 'noninteractive' };
    const packages = new Set(missing.map(([, name]) => name));
    run('apt-get', ['update', '-qq'], { environment });
    // The installation starts no daemon, since engine.mjs starts one with its own folder.
    withoutServices(() =>
      run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
        environment,
      }),
    );
  }
  if (!cgroups) run('cgroupfs-mount', []);
  if (!succeeds('docker', ['compose', 'version']) || !succeeds('docker', ['buildx', 'version'])) {
    installPlugins();
  }
}

function hasProgram(program) {
  return capture('sh', ['-c', `command -v ${program}`]).status === 0;
}

function withoutServices(install) {
  const policy = '/usr/sbin/policy-rc.d';
  const exists = globSync(policy).length > 0;
  if (!exists) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (!exists) rmSync(policy);
  }
}

/**
 * Extracts the plugins from Debian 13's packages. apt checks the archive's signature, and nothing else is installed.
 */
function installPlugins() {
  const folder = mkdtempSync(join(tmpdir(), 'lowmark-plugins-'));
  try {
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
    writeFileSync(join(folder, 'trixie.sources'), TRIXIE);
    const apt = [
      ['Dir::Etc::SourceList', '/dev/null'],
      ['Dir::Etc::SourceParts', folder],
      ['Dir::State::Lists', join(folder, 'lists')],
      ['Acquire::Languages', 'none'],
      ['APT::Sandbox::User', 'root'],
    ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    run('apt-get', [...apt, 'update', '-qq']);
    run('apt-get', [...apt, 'download', '-qq', 'docker-compose', 'docker-buildx'], { cwd: folder });
    mkdirSync(PLUGINS, { recursive: true });
    for (const archive of globSync(join(folder, '*.deb'))) run('dpkg', ['-x', archive, folder]);
    for (const plugin of globSync(join(folder, 'usr/libexec/docker/cli-plugins/*'))) {
      copyFileSync(plugin, join(PLUGINS, basename(plugin)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
