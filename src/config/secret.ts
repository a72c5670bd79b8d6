// One class for every key, token and password. The package of the MoR uses it too.
export { Secret } from '@crossbill/mor/secret.js';
