/** Bodies with JSON `null` in one field each, made from an OpenAPI document. */

type Json = Readonly<Record<string, unknown>>;

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
}

interface Operation {
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

export interface NullField {
  /** Of the route, such as `POST /api/redemptions`. */
  readonly route: string;
  readonly path: string;
  /** With the names of the objects that it is in: `callback.url`. */
  readonly field: string;
  /** Valid but for the field. */
  readonly body: Json;
}

/**
 * @param document an OpenAPI document, as JSON
 * @param samples values of fields that the schema alone does not tell, by name of the field or of the path parameter
 */
export function nullFields(document: unknown, samples: Json): NullField[] {
  const { paths, components } = document as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const resolved = (schema: Schema): Schema => {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    return reference === undefined
      ? schema
      : (components.schemas[reference.split('/').at(-1) ?? ''] ?? {});
  };
  const sampleOf = (name: string, given: Schema): unknown => {
    if (name in samples) return samples[name];
    const schema = resolved(given);
    if (schema.enum !== undefined) return schema.enum[0];
    if (schema.properties !== undefined) return requiredOf(schema);
    if (schema.format === 'uuid') return '00000000-0000-7000-8000-000000000000';
    if (schema.format === 'date-time') return '2026-01-01T00:00:00Z';
    if (schema.type === 'integer') return schema.minimum ?? 1;
    if (schema.type === 'boolean') return false;
    if (schema.type === 'array') return [sampleOf(`${name}[]`, schema.items ?? {})];
    return 'text';
  };
  const requiredOf = ({ properties = {}, required = [] }: Schema): Json =>
    Object.fromEntries(required.map((name) => [name, sampleOf(name, properties[name] ?? {})]));
  /** Every field of a body, at every depth, with the body in which it is null. */
  const bodiesOf = (schema: Schema): { readonly field: string; readonly body: Json }[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
      const field = resolved(given);
      const isList = field.type === 'array';
      const nested = resolved(isList ? (field.items ?? {}) : field);
      return [
        { field: name, body: { ...requiredOf(schema), [name]: null } },
        ...bodiesOf(nested).map((inner) => ({
          field: `${name}.${inner.field}`,
          body: { ...requiredOf(schema), [name]: isList ? [inner.body] : inner.body },
        })),
      ];
    });
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      if (requestBody === undefined) return [];
      const schema = resolved(requestBody.content['application/json'].schema);
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(samples[name]));
      const route = `${method.toUpperCase()} ${template}`;
      return bodiesOf(schema).map((one) => ({ route, path, ...one }));
    }),
  );
}
