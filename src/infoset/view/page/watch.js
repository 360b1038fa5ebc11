/* A page with one recorded game. */

import { mountPlayer } from "./player.js";

const { recording, options } = JSON.parse(document.getElementById("recording").textContent);
mountPlayer(document.getElementById("app"), recording, { ...options, hash: true, keys: window });
