// SPDX-License-Identifier: Apache-2.0
// The usual analysis of live variables, backwards over the structured code. Where a catch is
// reached from is of no interest: what is live at the begin of any is collected.
#include "aot/catch_liveness.h"

#include <unordered_map>

#include "aot/nested_lists.h"
#include "wabt/cast.h"

namespace dormouse::aot {
namespace {

using wabt::cast;
using wabt::ExprType;
using Locals = std::vector<bool>;

// Adds `more` to `locals`; whether that changed anything.
bool Unite(Locals& locals, const Locals& more) {
  bool changed = false;
  for (std::size_t i = 0; i < locals.size(); ++i) {
    if (more[i] && !locals[i]) locals[i] = changed = true;
  }
  return changed;
}

class LiveLocals {
 public:
  explicit LiveLocals(std::size_t count) : none_(count), at_catches_(count) {}

  Locals AtCatches(const wabt::ExprList& body) {
    // What is live at the head of a loop depends on its own body: again until nothing is added.
    do {
      changed_ = false;
      Locals live = none_;
      labels_ = {none_};
      Walk(body, live);
    } while (changed_);
    return at_catches_;
  }

 private:
  // Turns what is live behind `list` into what is live before it.
  void Walk(const wabt::ExprList& list, Locals& live) {
    for (auto expr = list.rbegin(); expr != list.rend(); ++expr) Step(*expr, live);
  }

  void Step(const wabt::Expr& expr, Locals& live) {
    switch (expr.type()) {
      case ExprType::LocalGet:
        live[cast<wabt::LocalGetExpr>(&expr)->var.index()] = true;
        break;
      case ExprType::LocalSet:
        live[cast<wabt::LocalSetExpr>(&expr)->var.index()] = false;
        break;
      case ExprType::LocalTee:
        live[cast<wabt::LocalTeeExpr>(&expr)->var.index()] = false;
        break;
      case ExprType::Br:
        live = LiveAt(cast<wabt::BrExpr>(&expr)->var);
        break;
      case ExprType::BrIf:
        Unite(live, LiveAt(cast<wabt::BrIfExpr>(&expr)->var));
        break;
      case ExprType::BrTable: {
        const auto& table = *cast<wabt::BrTableExpr>(&expr);
        live = LiveAt(table.default_target);
        for (const wabt::Var& target : table.targets) Unite(live, LiveAt(target));
        break;
      }
      case ExprType::Return:
      case ExprType::Unreachable:
      case ExprType::Throw:
      case ExprType::Rethrow:
        live = none_;
        break;
      case ExprType::Loop:
        labels_.push_back(heads_.try_emplace(&expr, none_).first->second);
        Walk(cast<wabt::LoopExpr>(&expr)->block.exprs, live);
        labels_.pop_back();
        changed_ |= Unite(heads_.at(&expr), live);
        break;
      case ExprType::Block:
      case ExprType::If:
      case ExprType::Try:
        StepInto(expr, live);
        break;
      default:
        break;
    }
  }

  // Blocks whose label is at their end. A try counts as what it does when nothing is thrown.
  void StepInto(const wabt::Expr& expr, Locals& live) {
    const Locals behind = live;
    labels_.push_back(behind);
    if (const auto* attempt = wabt::dyn_cast<wabt::TryExpr>(&expr)) {
      for (const wabt::Catch& handler : attempt->catches) {
        Locals at_catch = behind;
        Walk(handler.exprs, at_catch);
        Unite(at_catches_, at_catch);
      }
      Walk(attempt->block.exprs, live);
    } else {
      bool first = true;
      ForEachListIn(expr, [&](const wabt::ExprList& list) {
        Locals before = behind;
        Walk(list, before);
        if (first) live = none_;
        first = false;
        Unite(live, before);
      });
    }
    labels_.pop_back();
  }

  const Locals& LiveAt(const wabt::Var& label) const {
    return labels_[labels_.size() - 1 - label.index()];
  }

  const Locals none_;
  Locals at_catches_;
  std::vector<Locals> labels_;  // what is live where a branch to each goes
  std::unordered_map<const wabt::Expr*, Locals> heads_;
  bool changed_ = false;
};

}  // namespace

bool ContainsTry(const wabt::ExprList& list) {
  for (const wabt::Expr& expr : list) {
    if (expr.type() == ExprType::Try) return true;
    bool inside = false;
    ForEachListIn(expr, [&](const wabt::ExprList& nested) { inside |= ContainsTry(nested); });
    if (inside) return true;
  }
  return false;
}

std::vector<bool> LocalsLiveAtCatches(const wabt::Func& function) {
  return LiveLocals(function.GetNumParamsAndLocals()).AtCatches(function.exprs);
}

}  // namespace dormouse::aot
