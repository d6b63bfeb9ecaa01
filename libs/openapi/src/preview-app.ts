import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * An application that is only looked at, for its document: nothing of it is made, and nothing is connected to.
 * @param moduleOf makes its module of another one
 * @param given what a running service is given from outside; that other module stands for it
 */
export function previewApp(
  moduleOf: (given: DynamicModule) => DynamicModule,
  given: readonly InjectionToken[],
): Promise<NestFastifyApplication> {
  const module = moduleOf({
    module: Given,
    global: true,
    providers: given.map((provide) => ({ provide, useValue: {} })),
    exports: [...given],
  });
  const options = { preview: true, abortOnError: false, logger: false } as const;
  return NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), options);
}

@Module({})
class Given {}
