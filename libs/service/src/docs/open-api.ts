/** An OpenAPI document, as far as its page shows it. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> };
}

export interface OpenApiOperation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly responses: Readonly<Record<string, OpenApiAnswer>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
}

export interface OpenApiAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string }>>;
}

export interface OpenApiSchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}
