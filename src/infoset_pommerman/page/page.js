/* What the page takes from this package: the player's stage, and the board of a seat. */

import { SeatBoard } from "./seat.js";
import { PommermanStage } from "./stage.js";

export const Stage = PommermanStage, Seat = SeatBoard;
