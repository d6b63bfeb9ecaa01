/**
 * The configuration files of deploy/ for programs on the loopback interface. Only addresses, paths and times are
 * changed.
 */
import { resolve } from 'node:path';
import { dump } from 'js-yaml';
import { textOf, yamlOf } from '../compose/compose-file.js';

interface PrometheusConfig {
  readonly global: object;
  readonly alerting: object;
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly dns_sd_configs?: unknown;
    readonly relabel_configs?: readonly { readonly target_label?: string }[];
  }[];
}

export interface Addresses {
  /** `host:port` by job name. */
  readonly targets: Readonly<Record<string, string>>;
  /** Folder of the files that list TLS servers. */
  readonly certificates: string;
}

/** The configuration of Prometheus, with a scrape interval of one second. */
export function prometheusConfig({ targets, certificates }: Addresses): string {
  const config = yamlOf('deploy/prometheus/prometheus.yml') as PrometheusConfig;
  const targetOf = (job: string): string => {
    const target = targets[job];
    if (target === undefined) throw new Error(`no address for the job ${job}`);
    return target;
  };
  return dump({
    ...config,
    global: { ...config.global, scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [resolve('deploy/prometheus/rules.yml')],
    alerting: {
      ...config.alerting,
      alertmanagers: [{ static_configs: [{ targets: [targetOf('alertmanager')] }] }],
    },
    scrape_configs: config.scrape_configs.map(({ dns_sd_configs: found, ...scrape }) => ({
      ...scrape,
      ...(found === undefined
        ? {
            scrape_interval: '5s',
            scrape_timeout: '5s',
            file_sd_configs: [{ files: [`${certificates}/*.yml`] }],
            relabel_configs: scrape.relabel_configs?.map((relabel) =>
              relabel.target_label === '__address__'
                ? { ...relabel, replacement: targetOf('blackbox') }
                : relabel,
            ),
          }
        : { static_configs: [{ targets: [targetOf(scrape.job_name)] }] }),
    })),
  });
}

/**
 * The configuration of Alertmanager, which notifies at once and repeats each second.
 * @param urlOf returns the URL in a file of ALERTS_DIR; needed where this Alertmanager cannot read URLs from files
 * (before 0.26)
 */
export function alertmanagerConfig(folder: string, urlOf?: (file: string) => string): string {
  return textOf('deploy/alertmanager/alertmanager.yml')
    .replaceAll(/(group_wait|group_interval|repeat_interval): \w+/g, '$1: 1s')
    .replaceAll(/url_file: \/run\/lowmark\/alerts\/(\w+)/g, (_, file: string) =>
      urlOf === undefined ? `url_file: ${folder}/${file}` : `url: ${urlOf(file)}`,
    );
}
