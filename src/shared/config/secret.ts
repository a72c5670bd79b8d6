// Exports the class for every key, token and password. The MoR's package uses the same class.
export { Secret } from '@crossbill/mor/secret.js';
