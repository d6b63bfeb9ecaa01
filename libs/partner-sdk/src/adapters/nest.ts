import { ENDPOINT_NAMES } from '../callbacks/endpoints.js';
import { type CallbackHandlers, type CallbackOptions } from '../callbacks/handlers.js';
import { expressCallbacks, type Middleware } from './node.js';

export interface PartnerCallbacksSetup extends CallbackOptions {
  /** The path in front of the four endpoints, below the application's global prefix where there is one. */
  readonly basePath?: string;
  readonly handlers: CallbackHandlers;
}

/** Options of `forRootAsync`, in the form of Nest's own asynchronous modules. */
export interface PartnerCallbacksFactory {
  readonly imports?: readonly unknown[];
  readonly inject?: readonly unknown[];
  // The parameters are the providers that `inject` names, which a type cannot express.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly useFactory: (...parts: any[]) => PartnerCallbacksSetup | Promise<PartnerCallbacksSetup>;
}

/** Nest's DynamicModule, declared without a dependency on Nest's package. */
export interface CallbacksDynamicModule {
  module: new () => object;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  imports: any[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  providers: any[];
}

interface Consumer {
  apply(middleware: Middleware): { forRoutes(...paths: string[]): unknown };
}

/**
 * A module with the four endpoints, for NestJS 10 to 12. On Fastify it needs nothing else; on Express
 * `NestFactory.create` needs `{ rawBody: true }` or `{ bodyParser: false }`. The endpoints are middleware: they answer
 * before guards, interceptors and filters, which would change the signed bytes.
 *
 *     imports: [
 *       PartnerCallbacksModule.forRootAsync({
 *         inject: [Game],
 *         useFactory: (game: Game) => ({ apiKey, sharedSecret, handlers: game }),
 *       }),
 *     ]
 */
// Nest identifies a module by its class.
// eslint-disable-next-line @typescript-eslint/no-extraneous-class
export class PartnerCallbacksModule {
  static forRoot(setup: PartnerCallbacksSetup): CallbacksDynamicModule {
    return PartnerCallbacksModule.forRootAsync({ useFactory: () => setup });
  }

  static forRootAsync(factory: PartnerCallbacksFactory): CallbacksDynamicModule {
    const { imports = [], inject = [], useFactory } = factory;
    const built = {} as { middleware: Middleware; basePath: string };
    /** Each registration needs a class of its own. Nest calls `configure` once the module's providers exist. */
    class PartnerCallbacks {
      configure(consumer: Consumer): void {
        const paths = ENDPOINT_NAMES.map((name) => `${built.basePath}/${name}`);
        consumer.apply(built.middleware).forRoutes(...paths);
      }
    }
    const provider = {
      provide: PartnerCallbacksModule,
      inject: [...inject],
      useFactory: async (...parts: unknown[]): Promise<object> => {
        const { handlers, basePath = '', ...options } = await useFactory(...parts);
        return Object.assign(built, { middleware: expressCallbacks(options, handlers), basePath });
      },
    };
    return { module: PartnerCallbacks, imports: [...imports], providers: [provider] };
  }
}
