// One class for every key, token and password of the daemon: the package of the MoR hides its own tokens with it.
export { Secret } from '@crossbill/mor/secret.js';
