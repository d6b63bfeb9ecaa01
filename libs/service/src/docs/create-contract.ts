import { type INestApplication, type Type } from '@nestjs/common';
import { type DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type OpenApi } from './open-api.js';

export interface ContractOptions {
  /** Names, description and security of the contract. */
  readonly config: DocumentBuilder;
  /** The modules whose controllers are the contract; absent: all. */
  readonly include?: readonly Type[];
  /** Schemas that no controller names by its class. */
  readonly extraModels?: readonly Type[];
}

/** The contract as the decorators of controllers and DTOs say it. */
export function createContract(
  app: INestApplication,
  { config, include, extraModels }: ContractOptions,
): OpenApi & OpenAPIObject {
  const document = SwaggerModule.createDocument(app, config.setOpenAPIVersion('3.1.0').build(), {
    autoTagControllers: false,
    ...(include && { include: [...include] }),
    ...(extraModels && { extraModels: [...extraModels] }),
  });
  const { info, tags, servers, ...rest } = document;
  const { contact, ...told } = info;
  return {
    ...rest,
    info: { ...told, ...(isEmpty(contact) ? {} : { contact }) },
    ...(isEmpty(tags) ? {} : { tags }),
    ...(isEmpty(servers) ? {} : { servers }),
  } as OpenApi & OpenAPIObject;
}

/** The builder leaves empty places for what was not said. */
function isEmpty(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}
