// SPDX-License-Identifier: Apache-2.0
import { constants } from "dormouse:files/constants";
import { errnoNames } from "dormouse:errors";

export default { ...errnoNames, ...constants };
