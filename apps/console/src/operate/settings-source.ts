/** The token of what the settings were read from: for what reads settings of other services, as the doctor does. */
export const SETTINGS_SOURCE = Symbol('SettingsSource');
