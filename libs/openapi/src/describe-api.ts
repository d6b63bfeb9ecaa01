/** The OpenAPI document of a service, from the decorators of its controllers and DTOs, with the answers that every route has. */
import { applyDecorators, type INestApplication, type Type } from '@nestjs/common';
import {
  ApiOperation,
  ApiProperty,
  ApiResponse,
  ApiSchema,
  DocumentBuilder,
  getSchemaPath,
  SwaggerModule,
} from '@nestjs/swagger';
import { type OpenApi } from './serve-docs.js';

export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Those whose controllers belong to it; what a service has besides is for its operator. */
  readonly modules: Type[];
  /** How callers show who they are, by the name that routes refer to. */
  readonly security: Parameters<DocumentBuilder['addSecurity']>;
  /** The body of an error. */
  readonly errorBody?: Type;
}

export function describeApi(app: INestApplication, api: ApiDescription): OpenApi {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .addSecurity(...api.security)
    .build();
  const { openapi, paths, components } = SwaggerModule.createDocument(app, config, {
    include: api.modules,
    autoTagControllers: false,
    extraModels: [api.errorBody ?? ErrorBody],
    operationIdFactory: () => undefined as never,
  });
  const { title, version, description } = api;
  // Plain JSON: what is undefined goes.
  const document = { openapi, info: { title, version, description }, paths, components };
  return JSON.parse(JSON.stringify(document)) as OpenApi;
}

@ApiSchema({
  name: 'Error',
  description: 'May have `field` as well: which part of the request is wrong.',
})
export class ErrorBody {
  @ApiProperty({ const: false } as object)
  readonly success!: false;

  @ApiProperty({ type: 'string' })
  readonly code!: string;

  @ApiProperty({ type: 'string', description: 'For people; its wording may change.' })
  readonly message!: string;
}

const REQUEST_ID = {
  'X-Request-Id': {
    description:
      'Names the request in our logs: the X-Request-Id that was sent, where it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
} as const;
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
} as const;

type Decorator = ClassDecorator & MethodDecorator;

/** What a route does. */
export function Operation(summary: string, description: string): MethodDecorator {
  return ApiOperation({ summary, description });
}

/** An answer with a body of this type, or with none. */
export function Answers(status: number, description: string, type?: Type): Decorator {
  return ApiResponse({ status, description, headers: REQUEST_ID, ...(type && { type }) });
}

/** An answer that says why there is no success; `codes` are those that it may have. */
export function Fails(status: number, description: string, ...codes: string[]): Decorator {
  return ApiResponse({ status, description, headers: REQUEST_ID, content: errorOf(codes) });
}

/** The same, where `Retry-After` may say when to ask again. */
export function FailsForNow(status: number, description: string, ...codes: string[]): Decorator {
  const headers = { ...REQUEST_ID, ...RETRY_AFTER };
  return ApiResponse({ status, description, headers, content: errorOf(codes) });
}

function errorOf(codes: string[]) {
  const allOf = [{ $ref: getSchemaPath(ErrorBody) }];
  return { 'application/json': { schema: { allOf, properties: { code: { enum: codes } } } } };
}

/** What any route may answer. */
export function FailsAnywhere(): Decorator {
  return applyDecorators(
    FailsForNow(429, 'Too many requests.', 'RATE_LIMIT_EXCEEDED'),
    Fails(500, 'An unexpected failure.', 'INTERNAL_SERVER_ERROR'),
    FailsForNow(503, 'The service cannot answer at the moment.', 'SERVICE_UNAVAILABLE'),
  );
}
