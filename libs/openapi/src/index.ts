export * from './describe-api.js';
export * as Field from './fields.js';
export { previewApp } from './preview-app.js';
export * from './serve-docs.js';
