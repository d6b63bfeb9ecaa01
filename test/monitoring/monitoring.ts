/** The programs of the profile `metrics` without Grafana, on the loopback interface, with the files of deploy/. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';
import { type ComposeFile, yamlOf } from '../compose/compose-file.js';
import { alertmanagerConfig, prometheusConfig } from './loopback-config.js';

type MonitoringProgram = 'prometheus' | 'alertmanager' | 'node-exporter' | 'blackbox-exporter';

/** HANDBOOK_URL as an operator would set it. */
export const HANDBOOK_URL = 'https://git.example/lowmark/blob/main/docs/operating';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

export interface MonitoringOptions {
  /** Folder for all written files. */
  readonly folder: string;
  /** `host:port` of the services by job name. */
  readonly services: Readonly<Record<string, string>>;
  /** TLS servers as `host:port`. */
  readonly certificates: readonly string[];
  /** Contents of the files of ALERTS_DIR by file name. */
  readonly receivers: Readonly<Record<string, string>>;
}

export class Monitoring {
  private readonly processes: ManagedProcess[] = [];

  private constructor(
    private readonly folder: string,
    readonly prometheusUrl: string,
    readonly alertmanagerUrl: string,
  ) {}

  static async start(options: MonitoringOptions): Promise<Monitoring> {
    const { folder } = options;
    // The ports are requested one after the other, since concurrent requests may return the same free port.
    const ports: Partial<Record<MonitoringProgram, string>> = {};
    const names = ['prometheus', 'alertmanager', 'node-exporter', 'blackbox-exporter'] as const;
    for (const name of names) ports[name] = `127.0.0.1:${await freePort()}`;
    const addressOf = (name: MonitoringProgram): string => ports[name] ?? '';
    const monitoring = new Monitoring(
      folder,
      `http://${addressOf('prometheus')}`,
      `http://${addressOf('alertmanager')}`,
    );
    monitoring.write(options, {
      ...options.services,
      alertmanager: addressOf('alertmanager'),
      node: addressOf('node-exporter'),
      blackbox: addressOf('blackbox-exporter'),
    });
    for (const name of names) await monitoring.run(name, addressOf(name));
    return monitoring;
  }

  /** The folder that the node exporter's textfile collector reads. */
  get textfiles(): string {
    return join(this.folder, 'textfiles');
  }

  async query(expression: string): Promise<readonly Sample[]> {
    const query = new URLSearchParams({ query: expression }).toString();
    const answer = await fetch(`${this.prometheusUrl}/api/v1/query?${query}`);
    const body = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: { readonly result: readonly Sample[] };
    };
    if (body.status !== 'success') throw new Error(`${expression}: ${body.error ?? ''}`);
    return body.data.result;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  private write(
    { certificates, receivers }: MonitoringOptions,
    targets: Readonly<Record<string, string>>,
  ): void {
    for (const name of ['textfiles', 'targets', 'alerts']) mkdirSync(join(this.folder, name));
    for (const [file, url] of Object.entries(receivers))
      writeFileSync(join(this.folder, 'alerts', file), url);
    writeFileSync(
      join(this.folder, 'targets', 'mine.yml'),
      JSON.stringify([{ targets: certificates }]),
    );
    writeFileSync(
      join(this.folder, 'prometheus.yml'),
      prometheusConfig({ targets, certificates: join(this.folder, 'targets') }),
    );
    const alerts = join(this.folder, 'alerts');
    const urlOf = (file: string): string => readFileSync(join(alerts, file), 'utf8');
    writeFileSync(
      join(this.folder, 'alertmanager.yml'),
      alertmanagerConfig(alerts, readsUrlsFromFiles() ? undefined : urlOf),
    );
  }

  private async run(name: MonitoringProgram, address: string): Promise<void> {
    const started = await ManagedProcess.start({
      command: programPath(name) ?? name,
      args: [`--web.listen-address=${address}`, ...this.argumentsOf(name)],
      environment: { HANDBOOK_URL },
      logFile: join(this.folder, `${name}.log`),
    });
    this.processes.push(started);
    try {
      await eventually(async () => {
        const answer = await fetch(`http://${address}/`).catch(() => undefined);
        await answer?.arrayBuffer();
        return answer !== undefined && answer.status < 500;
      }, 30_000);
    } catch (error) {
      throw new Error(`${name} does not answer:\n${(await started.tail()).join('\n')}`, {
        cause: error,
      });
    }
  }

  /** The arguments in docker-compose.yml, with the paths of this machine. */
  private argumentsOf(name: MonitoringProgram): string[] {
    const { services } = yamlOf('docker-compose.yml') as ComposeFile;
    const shipped = (services[name]?.command ?? []).map((word) =>
      word
        .replace('/etc/prometheus', this.folder)
        .replace('/etc/alertmanager', this.folder)
        .replace('/etc/blackbox', resolve('deploy/blackbox'))
        .replace('=/prometheus', `=${join(this.folder, 'tsdb')}`)
        .replace('=/alertmanager', `=${join(this.folder, 'notifications')}`)
        .replace('/textfiles', this.textfiles),
    );
    if (name !== 'prometheus') return shipped;
    return [
      ...shipped,
      // Prometheus 3, the version of the image, always expands variables in external labels.
      '--enable-feature=expand-external-labels',
      // An alert that fired before Prometheus found Alertmanager is sent again after this time; the default is a
      // minute.
      '--rules.alert.resend-delay=5s',
    ];
  }
}

/** Whether Alertmanager reads URLs from files: from 0.26 on. Debian 12 has 0.25. */
function readsUrlsFromFiles(): boolean {
  const version = execFileSync(programPath('alertmanager') ?? '', ['--version'], {
    encoding: 'utf8',
  });
  const [, minor = '0'] = /version 0\.(\d+)/.exec(version) ?? [];
  return Number(minor) >= 26;
}
