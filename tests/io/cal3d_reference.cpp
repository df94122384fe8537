// What Debian's libcal3d makes of a Cal3D model: the independent judge of our reader. Built only
// for the test.
//
//   cal3d_reference MODEL.cfg CLIP.caf TIME...
//
// writes, for every time, the blended positions of all meshes in the order of the .cfg as float32
// to standard output.
#include <cal3d/cal3d.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

static int fail(const std::string &what)
{
    std::fprintf(stderr, "cal3d_reference: %s: %s\n", what.c_str(),
                 CalError::getLastErrorDescription().c_str());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 4) return fail("usage: MODEL.cfg CLIP.caf TIME...");
    const std::string cfg = argv[1];
    const std::string folder = cfg.substr(0, cfg.rfind('/') + 1);
    float scale = 1;
    CalCoreModel core("judge");
    std::vector<int> meshes;
    std::ifstream lines(cfg.c_str());
    for (std::string line; std::getline(lines, line);) {
        while (!line.empty() && (line[line.size() - 1] == '\r' || line[line.size() - 1] == ' '))
            line.erase(line.size() - 1);
        const size_t equals = line.find('=');
        if (line.empty() || line[0] == '#' || equals == std::string::npos) continue;
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        if (key == "scale") scale = static_cast<float>(std::atof(value.c_str()));
        if (key == "skeleton" && !core.loadCoreSkeleton(folder + value)) return fail(value);
        if (key == "mesh") {
            meshes.push_back(core.loadCoreMesh(folder + value));
            if (meshes.back() < 0) return fail(value);
        }
    }
    const int animation = core.loadCoreAnimation(argv[2]);
    if (animation < 0) return fail(argv[2]);
    core.scale(scale);
    CalModel model(&core);
    for (size_t i = 0; i < meshes.size(); i++)
        if (!model.attachMesh(meshes[i])) return fail("attachMesh");
    CalMixer *mixer = model.getMixer();
    mixer->blendCycle(animation, 1, 0);
    mixer->updateAnimation(0); // the weight takes effect at once
    for (int t = 3; t < argc; t++) {
        mixer->setAnimationTime(static_cast<float>(std::atof(argv[t])));
        mixer->updateSkeleton();
        for (size_t i = 0; i < model.getVectorMesh().size(); i++) {
            std::vector<CalSubmesh *> &submeshes = model.getVectorMesh()[i]->getVectorSubmesh();
            for (size_t j = 0; j < submeshes.size(); j++) {
                submeshes[j]->disableInternalData(); // else springs, not bones, move the hair
                std::vector<float> positions(3 * submeshes[j]->getVertexCount());
                model.getPhysique()->calculateVertices(submeshes[j], &positions[0]);
                std::fwrite(&positions[0], sizeof(float), positions.size(), stdout);
            }
        }
    }
    return 0;
}
