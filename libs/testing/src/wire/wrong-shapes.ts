/** Requests with values of wrong shapes, made from an OpenAPI document. */
import { type NullField, nullFields } from './null-fields.js';

type Json = Readonly<Record<string, unknown>>;

/** What JSON has in place of a field, besides null. */
const VALUES: readonly unknown[] = [
  ...[[], [[]], [null], [{}], {}, { length: 1 }, '', '-0', '1e21', 'null', '__proto__'],
  ...[1e21, -1, 0.5, true],
];
/** What a query has in place of a parameter, as it is sent. */
const TEXTS = ['', '-0', '1e21', '[]', 'null', '__proto__', '9'.repeat(400), '%ff', '%F0%9F%92%A9'];

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

export interface WrongBody extends Pick<NullField, 'route' | 'path' | 'field'> {
  readonly bodies: readonly Json[];
}

/** @param samples as of `nullFields` */
export function wrongBodies(document: unknown, samples: Json): WrongBody[] {
  return nullFields(document, samples).map(({ body, ...field }) => {
    // Null is the field, since no sample is null.
    const text = JSON.stringify(body);
    const bodies = VALUES.map(
      (value) => JSON.parse(text, (_, found: unknown) => (found === null ? value : found)) as Json,
    );
    return { ...field, bodies };
  });
}

export interface WrongQuery {
  /** Of the route, such as `GET /api/redemptions`. */
  readonly route: string;
  readonly parameter: string;
  /** Paths with a query. */
  readonly targets: readonly string[];
}

/** @param samples values of parameters, by their names */
export function wrongQueries(document: unknown, samples: Json): WrongQuery[] {
  const { paths } = document as { paths: Readonly<Record<string, Record<string, Operation>>> };
  return Object.entries(paths).flatMap(([template, { get: operation }]) => {
    const names = (operation?.parameters ?? []).filter((one) => one.in === 'query');
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(samples[name]));
    const given = names.flatMap(({ name }) =>
      name in samples ? [[name, `${name}=${encodeURIComponent(String(samples[name]))}`]] : [],
    );
    return names.map(({ name: parameter }) => {
      const others = given.filter(([name]) => name !== parameter).map(([, pair]) => pair);
      const targetOf = (...pairs: string[]): string => `${path}?${[...others, ...pairs].join('&')}`;
      const targets = [
        ...TEXTS.map((text) => targetOf(`${parameter}=${text}`)),
        targetOf(`${parameter}=1`, `${parameter}=2`),
        targetOf(`${parameter}[]=1`),
        targetOf(`${parameter}[a]=1`),
      ];
      return { route: `GET ${template}`, parameter, targets };
    });
  });
}
