import { Controller, type DynamicModule, Get, Header, Inject, Module } from '@nestjs/common';
import { canonicalJson } from '#libs/domain';
import { docsPage } from './docs-page.js';
import { type OpenApi } from './open-api.js';

const CONTRACT = Symbol('Contract');

interface Contract {
  readonly openApi: OpenApi;
  readonly note: string;
}

/** The contract, for people and for tools: `GET /docs` and `GET /docs/openapi.json`. */
@Controller('docs')
class DocsController {
  private readonly html: string;
  private readonly json: string;

  constructor(@Inject(CONTRACT) { openApi, note }: Contract) {
    this.html = docsPage(openApi, note);
    this.json = canonicalJson(openApi);
  }

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
  page(): string {
    return this.html;
  }

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  document(): string {
    return this.json;
  }
}

@Module({ controllers: [DocsController] })
export class DocsModule {
  /** @param note one more sentence on the page: how a caller shows who it is */
  static register(openApi: OpenApi, note: string): DynamicModule {
    return {
      module: DocsModule,
      providers: [{ provide: CONTRACT, useValue: { openApi, note } satisfies Contract }],
    };
  }
}
