/** The routes of the console, from Nest's own list. A spec by name only: it has no tests. */
import { type INestApplication, RequestMethod } from '@nestjs/common';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { type Audience, AUDIENCE, AudienceGuard, FRESH } from '../auth/audience.guard.js';
import { MemberLimitGuard } from '../auth/member-limits.js';

type Handler = (...given: unknown[]) => unknown;
export type Class = new (...given: never[]) => object;

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly audience: Audience | undefined;
  readonly isFresh: boolean;
  readonly isGuarded: boolean;
  /** Whether actions of members have a limit there. */
  readonly isLimited: boolean;
}

/** Health and metrics are for the operator's own network, and have no audience. */
const MANAGEMENT = /^\/(?:health|metrics)/;

function metadata(key: symbol, handler: Handler, controller: Class): unknown {
  return Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
}

export function routesOf(controller: Class): Route[] {
  const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
  const { prototype } = controller as unknown as { prototype: Record<string, Handler> };
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name] as Handler;
    // The constructor carries the metadata of the class.
    if (name === 'constructor') return [];
    const paths = Reflect.getMetadata(PATH_METADATA, handler) as string | string[] | undefined;
    if (paths === undefined) return [];
    const guards = [handler, controller].flatMap(
      (one) => (Reflect.getMetadata(GUARDS_METADATA, one) ?? []) as unknown[],
    );
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
    return [paths].flat().map((path) => ({
      method: RequestMethod[method],
      path: `/${prefix}/${path}`.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, ''),
      audience: metadata(AUDIENCE, handler, controller) as Audience | undefined,
      isFresh: metadata(FRESH, handler, controller) === true,
      isGuarded: guards.includes(AudienceGuard),
      isLimited: guards.includes(MemberLimitGuard),
    }));
  });
}

/** All routes except health and metrics. */
export function allRoutes(app: INestApplication): Route[] {
  return [...app.get(ModulesContainer).values()]
    .flatMap(({ controllers }) => [...controllers.values()])
    .flatMap(({ metatype }) => routesOf(metatype as Class))
    .filter(({ path }) => !MANAGEMENT.test(path));
}
