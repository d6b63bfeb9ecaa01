import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * An application that exists only to make its OpenAPI document: no provider is created and no connection is opened.
 * @param moduleOf makes the module of the application from the module with the given providers
 * @param given the providers that a running service gets from outside; placeholders replace them
 */
export function previewApp(
  moduleOf: (given: DynamicModule) => DynamicModule,
  given: readonly InjectionToken[],
): Promise<NestFastifyApplication> {
  const module = moduleOf({
    module: PlaceholderModule,
    global: true,
    providers: given.map((provide) => ({ provide, useValue: {} })),
    exports: [...given],
  });
  const options = { preview: true, abortOnError: false, logger: false } as const;
  return NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), options);
}

@Module({})
class PlaceholderModule {}
