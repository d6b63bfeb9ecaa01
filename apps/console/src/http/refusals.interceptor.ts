import { type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, type Observable, throwError } from 'rxjs';

/** What an operation refuses, as the answer that says so. */
export class RefusalsInterceptor implements NestInterceptor {
  /** @param problemOf what is no refusal is returned as it is */
  constructor(private readonly problemOf: (error: unknown) => unknown) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(catchError((error: unknown) => throwError(() => this.problemOf(error))));
  }
}
