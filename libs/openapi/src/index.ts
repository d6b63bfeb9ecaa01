export {
  Answers,
  type ApiDescription,
  describeApi,
  ErrorBody,
  Fails,
  FailsAnywhere,
  FailsForNow,
} from './describe-api.js';
export { previewApp } from './preview-app.js';
export {
  type OpenApi,
  type OpenApiOperation,
  type OpenApiParameter,
  serveDocs,
} from './serve-docs.js';
