import { Controller, Get, Header } from '@nestjs/common';
import { JSON_TYPE } from '../http/error.filter.js';
import { docsPage } from './docs-page.js';
import { openApi } from './openapi.js';

/** The contract, for people and for tools. */
@Controller('docs')
export class DocsController {
  private readonly html = docsPage();
  private readonly json = JSON.stringify(openApi);

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
  page(): string {
    return this.html;
  }

  @Get('openapi.json')
  @Header('content-type', JSON_TYPE)
  document(): string {
    return this.json;
  }
}
