/** The files of deploy/ for programs on loopback: other addresses, paths and times; all else is as it is shipped. */
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
  /** `host:port` by the name of the job. */
  readonly targets: Readonly<Record<string, string>>;
  /** The folder of the files with TLS servers. */
  readonly certificates: string;
}

/** Prometheus looks each second. */
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
 * Alertmanager tells at once, and again each second.
 * @param urlOf the address in a file of ALERTS_DIR; given where this Alertmanager cannot read one from a file (before 0.26)
 */
export function alertmanagerConfig(folder: string, urlOf?: (file: string) => string): string {
  return textOf('deploy/alertmanager/alertmanager.yml')
    .replaceAll(/(group_wait|group_interval|repeat_interval): \w+/g, '$1: 1s')
    .replaceAll(/url_file: \/run\/lowmark\/alerts\/(\w+)/g, (_, file: string) =>
      urlOf === undefined ? `url_file: ${folder}/${file}` : `url: ${urlOf(file)}`,
    );
}
