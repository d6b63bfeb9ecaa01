export { installPackage, type InstalledPackage } from './install-package.js';
