/**
 * Makes the OpenAPI document of a service from the decorators of its controllers and DTOs. The decorators of this file
 * describe operations and common answers.
 */
import { applyDecorators, type INestApplication, type Type } from '@nestjs/common';
import {
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
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
  /** Modules whose controllers belong to the contract; other modules of a service are for its operator. */
  readonly modules: Type[];
  /** The scheme by which callers authenticate, under the name that routes refer to. */
  readonly security: Parameters<DocumentBuilder['addSecurity']>;
  /** Type of the body of an error; default `ErrorBody`. */
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
  // Turned into plain JSON, which drops fields that are undefined.
  const document = { openapi, info: { title, version, description }, paths, components };
  return JSON.parse(JSON.stringify(document)) as OpenApi;
}

@ApiSchema({ name: 'Error' })
export class ErrorBody {
  @ApiProperty({ const: false } as object)
  readonly success!: false;

  @ApiProperty({ type: 'string' })
  readonly code!: string;

  @ApiProperty({ type: 'string', description: 'For people; its wording may change.' })
  readonly message!: string;

  @ApiPropertyOptional({ type: 'string', description: 'The part of the request that is wrong.' })
  readonly field?: string;
}

const REQUEST_ID = {
  'X-Request-Id': {
    description:
      'Names the request in our logs: the X-Request-Id that was sent, if it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
} as const;
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
} as const;

type Decorator = ClassDecorator & MethodDecorator;

export function Operation(summary: string, description: string): MethodDecorator {
  return ApiOperation({ summary, description });
}

/** An answer with a body of the given type, or without a body. */
export function Answers(status: number, description: string, type?: Type): Decorator {
  return ApiResponse({ status, description, headers: REQUEST_ID, ...(type && { type }) });
}

/** An error answer; `codes` lists its possible error codes. */
export function Fails(status: number, description: string, ...codes: string[]): Decorator {
  return ApiResponse({ status, description, headers: REQUEST_ID, content: errorOf(codes) });
}

/** An error answer that may have `Retry-After`, and its possible error codes. */
export function FailsForNow(status: number, description: string, ...codes: string[]): Decorator {
  const headers = { ...REQUEST_ID, ...RETRY_AFTER };
  return ApiResponse({ status, description, headers, content: errorOf(codes) });
}

function errorOf(codes: string[]) {
  const allOf = [{ $ref: getSchemaPath(ErrorBody) }];
  return { 'application/json': { schema: { allOf, properties: { code: { enum: codes } } } } };
}

/** The error answers that every route may give. */
export function FailsAnywhere(): Decorator {
  return applyDecorators(
    FailsForNow(429, 'Too many requests.', 'RATE_LIMIT_EXCEEDED'),
    Fails(500, 'An unexpected failure.', 'INTERNAL_SERVER_ERROR'),
    FailsForNow(503, 'The service cannot answer at the moment.', 'SERVICE_UNAVAILABLE'),
  );
}
